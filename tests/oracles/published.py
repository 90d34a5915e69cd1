"""Two data sets of the literature on separation, and the estimates that were published for them.

Endometrial cancer: Heinze and Schemper, Statistics in Medicine 21 (2002); the data also in Agresti, Foundations of
Linear and Generalized Linear Models (2015). Urinary tract infection: Cytel, LogXact manual; `sex2` of R's logistf.
The estimates are those that R's logistf prints (endometrial: as quoted in the tests of firthlogist; sex2: its manual),
and for endometrial those of R's glm, whose coefficient of NV diverges.
"""

# NV PI EH HG: neovascularisation, pulsatility index, endometrium height; histology grade is the response.
_ENDOMETRIAL = """
0 13 1.64 0; 0 16 2.26 0; 0 8 3.14 0; 0 34 2.68 0; 0 20 1.28 0; 0 5 2.31 0; 0 17 1.8 0; 0 10 1.68 0; 0 26 1.56 0;
0 17 2.31 0; 0 8 2.01 0; 0 7 1.89 0; 0 20 3.15 0; 0 10 1.23 0; 0 18 1.27 0; 0 16 1.76 0; 0 18 2 0; 0 8 2.64 1;
0 29 0.88 1; 0 12 1.27 1; 0 20 1.37 1; 1 38 0.97 1; 1 22 1.14 1; 1 7 0.88 1; 1 25 0.91 1; 1 15 0.58 1; 0 7 0.97 1;
0 28 1.5 0; 0 11 1.33 0; 0 19 2.37 0; 0 10 1.82 0; 0 10 3.13 0; 0 18 1.31 0; 0 14 1.92 0; 0 21 1.64 0; 0 11 2.01 0;
0 17 1.88 0; 0 25 1.93 0; 0 16 2.11 0; 0 19 1.29 0; 0 15 1.72 0; 0 33 0.75 0; 0 24 1.92 0; 0 48 1.84 1; 0 12 1.11 1;
0 19 1.61 1; 0 2 1.18 1; 1 22 1.44 1; 1 40 1.18 1; 1 5 0.93 1; 1 0 1.17 1; 0 21 1.19 1; 0 15 1.06 1; 0 29 2.02 0;
0 15 2.29 0; 0 12 2.33 0; 0 3 2.9 0; 0 20 1.7 0; 0 23 1.41 0; 0 12 2.25 0; 0 22 1.54 0; 0 42 1.97 0; 0 15 1.75 0;
0 13 2.16 0; 0 14 2.57 0; 0 19 1.37 0; 0 12 3.61 0; 0 13 2.04 0; 0 10 2.17 0; 0 12 1.69 1; 1 49 0.27 1; 0 6 1.84 1;
0 5 1.3 1; 0 17 0.96 1; 1 11 1.01 1; 1 21 0.98 1; 0 5 0.35 1; 1 19 1.02 1; 0 33 0.85 1
"""
ENDOMETRIAL = [[float(v) for v in row.split()] for row in _ENDOMETRIAL.split(";")]
ENDOMETRIAL_DESIGN = [[1.0, *row[:3]] for row in ENDOMETRIAL]
GRADE = [row[3] for row in ENDOMETRIAL]

# case age oc vic vicl vis dia, and how many women.
_SEX2 = """
1111000 3; 1110000 5; 1101111 1; 1101100 1; 1101011 1; 1101010 1; 1101000 2; 1011110 3; 1011100 7; 1011010 2;
1011001 1; 1011000 15; 1010001 3; 1010000 44; 1001111 1; 1001110 12; 1001100 10; 1001010 3; 1001000 14; 1000010 1;
0111110 2; 0111000 1; 0110010 1; 0110000 14; 0101110 4; 0101100 2; 0011110 6; 0011100 5; 0011000 1; 0010010 1;
0010000 42; 0001110 18; 0001100 8; 0001010 1; 0001000 2; 0000010 1
"""
SEX2 = [([float(v) for v in cell], int(count)) for cell, count in (row.split() for row in _SEX2.split(";"))]
SEX2_DESIGN = [[1.0, *cell[1:]] for cell, _ in SEX2]
CASE = [cell[0] for cell, _ in SEX2]
WOMEN = [count for _, count in SEX2]

# Constant, NV, PI, EH.
LOGISTF_ENDOMETRIAL = {
    "estimates": [3.77455951, 2.92927330, -0.03475175, -2.60416387],
    "lower": [1.0825371, 0.6097244, -0.1244587, -4.3651832],
    "upper": [7.20928050, 7.85463171, 0.04045547, -1.23272106],
}
# Constant, PI, EH: estimates, standard errors, and the deviance.
GLM_ENDOMETRIAL = ([4.30452, -0.04218, -2.90261], [1.63730, 0.04433, 0.84555], 55.393)
# Constant, age, oc, vic, vicl, vis, dia.
LOGISTF_SEX2 = {
    "estimates": [0.12025405, -1.10598131, -0.06881673, 2.26887464, -2.11140817, -0.78831694, 3.09601166],
    "lower": [-0.8185591, -1.9737884, -0.9414363, 1.2730216, -3.2608611, -1.6080879, 0.7745682],
    "upper": [1.07315122, -0.30742514, 0.78920202, 3.43543273, -1.11773495, 0.01518468, 8.03029352],
    "p_values": [8.020268e-01, 6.143472e-03, 8.751911e-01, 1.678877e-06, 1.237805e-05, 5.449701e-02, 4.951873e-03],
}
